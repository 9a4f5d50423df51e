import { recordIn, textIn } from '../../../src/protocol/agentReport.ts';

/** A command that Codex keeps running, by its item and by Codex's own number of it, which is no pid. */
interface CodexTerminal {
  readonly item: string;
  readonly processId: string;
}

/** Reads the answer to `thread/backgroundTerminals/list`; what lacks its names is left out. Never throws. */
export function readTerminals(value: unknown): readonly CodexTerminal[] {
  const data = recordIn(value)?.['data'];
  if (!Array.isArray(data)) return [];
  return (data as unknown[]).flatMap((each) => {
    const terminal = recordIn(each);
    const item = textIn(terminal?.['itemId']);
    const processId = textIn(terminal?.['processId']);
    return item === undefined || processId === undefined ? [] : [{ item, processId }];
  });
}
