-- Which artifacts show absolute paths of the machine that built them.
SELECT place, inside, len(leaks) AS paths, leaks[1] AS first
FROM fleet WHERE len(leaks) > 0 ORDER BY paths DESC, place, inside
