-- How many artifacts claim which Version, and how many of them need a newer one.
SELECT claimed, count(*) AS artifacts,
       count(*) FILTER (string_split(required, '.')[1:2]::INT[] > string_split(claimed, '.')[1:2]::INT[])
           AS need_a_newer_one
FROM fleet GROUP BY claimed ORDER BY artifacts DESC, claimed
