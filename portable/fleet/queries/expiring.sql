-- Which artifacts leave the window that upstream promises by a date (--by; in 90 days), or have left it.
SELECT place, inside, kind, claimed, until, until - current_date AS days
FROM fleet JOIN windows USING (claimed, kind)
WHERE until <= coalesce(getvariable('by_date')::DATE, current_date + 90) ORDER BY until, place, inside
