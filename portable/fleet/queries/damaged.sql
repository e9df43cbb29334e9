-- What could not be read, and why.
SELECT place, inside, error FROM everything WHERE error IS NOT NULL ORDER BY ALL
