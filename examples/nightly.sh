#!/bin/sh
# A nightly report by an agent, for cron: 15 2 * * * cd /srv/reports && ./nightly.sh
# At most three attempts in ten minutes; after five failed nights in a row it is not asked for a while. Exit code 75 means: try again later.
exec npx unwedge run --name nightly-report --timeout 10m --attempts 3 --prompt-file prompt.txt \
  -- claude -p --output-format json
