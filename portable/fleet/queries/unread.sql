-- Which artifacts a consumer of --for does not open or read, or is not known to.
SELECT place, inside, consumer, says, reason
FROM fleet JOIN verdicts USING (subject)
WHERE holds IS NULL OR (NOT holds AND stage NOT IN ('compile', 'execute')) ORDER BY ALL
