-- Which artifacts a consumer of --for reads, and does not compile or computes wrongly.
SELECT place, inside, consumer, says, reason
FROM fleet JOIN verdicts USING (subject)
WHERE stage IN ('compile', 'execute') AND outcome <> 'compatible' ORDER BY ALL
