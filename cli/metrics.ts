import { plainText } from '../src/policy/text/face.ts';
import { metricsText } from '../src/policy/records/face.ts';
import { databaseMetrics } from '../operator/databaseMetrics.ts';
import { defineCommand } from './command.ts';
import { readDatabase } from './database.ts';
import { problemLines } from './liveRuntimes.ts';
import { toJson } from './sanitize.ts';

export const command = defineCommand({
  usage: 'metrics [--json] [--db FILE]',
  details: [
    'In the text format 0.0.4: calls by result, retries, refusals, restarts, durations and times to the first chunk as histograms, circuits, open',
    'alerts, and of live gateways and proxies the calls in flight, waiting and pending past half of a limit. Counters are of all calls that the',
    'database was told of since it was made, whatever was deleted from it since, and reach it within 10 s. For node_exporter, write it to a file',
    'of its textfile collector.',
  ].join('\n'),
  options: {},
  async run(args, io) {
    const { now } = io;
    const { path, families, asked } = await databaseMetrics((read) => readDatabase(args.db, io, read), now);
    // The reader of a pipe tells names apart by every character; a terminal would obey some of them.
    const text = io.isTTY ? plainText(metricsText(families)) : metricsText(families);
    io.stdout.write(args.json ? toJson({ database: path, metrics: families }) : text);
    io.stderr.write(problemLines(asked, now()));
    return 0;
  },
});
