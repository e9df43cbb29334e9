-- Which artifacts are the same program, whatever their Version, producer and locations.
SELECT fingerprint, count(*) AS artifacts, sum(size) AS bytes, min(place) AS first
FROM fleet WHERE fingerprint IS NOT NULL GROUP BY fingerprint HAVING count(*) > 1
ORDER BY artifacts DESC, first
