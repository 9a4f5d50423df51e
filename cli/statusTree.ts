import { readStatusAnswer, readTreeAnswer } from '../src/control/face.ts';
import type { OpenToolCircuit } from '../src/calls/circuit/face.ts';
import { openToolsOf, viewOf } from '../operator/integrationView.ts';
import { createShownNames, withShownNames } from '../src/redaction/face.ts';
import { treeText } from '../src/supervisor/face.ts';
import type { Args } from './command.ts';
import { readDatabase } from './database.ts';
import type { Io } from './io.ts';
import { dbWords } from '../src/policy/text/face.ts';
import { askRuntimes } from '../operator/askRuntimes.ts';
import { runtimesOf } from '../operator/unlisted.ts';
import { problemLines, runtimeText, stoppingText } from './liveRuntimes.ts';
import { mattersOfRuntimes } from './attention.ts';
import { silenceText } from './silentRuntimes.ts';
import { plainText, sanitize, toJson } from './sanitize.ts';
import { createStyle } from './text.ts';
import { told } from './ownCommand.ts';

/** `unwedge status --tree`. Gives 0 when at least one runtime showed its tree, else 1. */
export async function showTrees(args: Pick<Args, 'db' | 'json'>, io: Io): Promise<number> {
  const now = io.now();
  const { path, rows } = await readDatabase(args.db, io, async (reader) => ({
    path: reader.path,
    rows: await runtimesOf(reader, now),
  }));
  const [asked, statuses] = await Promise.all([
    askRuntimes(rows, io, 'tree', readTreeAnswer),
    askRuntimes(rows, io, 'status', readStatusAnswer),
  ]);
  const shownNames = createShownNames();
  const toolsOf = (id: string) =>
    withShownNames(
      viewOf(
        [],
        statuses.filter(({ runtime }) => runtime.id === id),
      ).flatMap((view) => openToolsOf(view).map((each) => ({ integration: view.integration, ...each }))),
      shownNames,
    );
  const stoppingOf = (id: string) => statuses.find(({ runtime }) => runtime.id === id)?.answer?.stopping;
  const shown = asked.filter(({ answer }) => answer !== undefined);
  if (args.json) {
    const runtimes = asked.map(({ runtime, answer, problem }) => ({
      ...runtime,
      problem,
      stopping: stoppingOf(runtime.id),
      toolCircuits: toolsOf(runtime.id),
      store: statuses.find((each) => each.runtime.id === runtime.id)?.answer?.store,
      tree: answer,
    }));
    io.stdout.write(toJson({ database: path, runtimes }));
  } else {
    const style = createStyle(io);
    const width = Math.max(20, io.columns);
    const texts = asked.flatMap(({ runtime, answer }) =>
      answer === undefined
        ? []
        : [
            `${style.bold(runtimeText(runtime, now))}${stoppingText(stoppingOf(runtime.id))}\n${plainText(treeText(answer, { width }))}${toolsText(toolsOf(runtime.id))}`,
          ],
    );
    io.stdout.write(texts.join('\n'));
  }
  io.stderr.write(problemLines(asked, now));
  if (!args.json)
    io.stderr.write(
      silenceText(
        mattersOfRuntimes(
          statuses.filter(({ answer }) => answer?.store !== undefined),
          now,
          undefined,
          dbWords(args.db),
        ),
        io,
      ),
    );
  if (shown.length > 0) return 0;
  const lost =
    'its supervision tree, child states and restarts cannot be shown; `unwedge status` shows what is on record';
  io.stderr.write(`unwedge: No live runtime answers for ${sanitize(path)}: ${told(lost, io)}.\n`);
  return 1;
}

/** The circuits of tools are no children of anybody: they are told below the tree. */
function toolsText(tools: readonly (OpenToolCircuit & { readonly integration: string })[]): string {
  return tools
    .map(
      ({ integration, tool, circuit }) =>
        `The circuit of the tool ${sanitize(tool)} of ${sanitize(integration)} is ${circuit}.\n`,
    )
    .join('');
}
