-- How many artifacts each producer wrote.
SELECT producer, kind, count(*) AS artifacts FROM fleet GROUP BY ALL ORDER BY artifacts DESC, producer, kind
