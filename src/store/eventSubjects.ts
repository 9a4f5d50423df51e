/** Fields under which an event names a child of the supervision tree, its process or its mailbox. */
const childFields = ['child', 'process', 'to'] as const;

/** Subject that is asked for: events of this name, of every process or of one. */
export interface Subject {
  readonly name: string;
  readonly pid?: number | undefined;
}

/**
 * The readings of a name: as it is written, and where it ends in `@PID` also as that of one process. A name may well end so itself.
 */
export function subjectsOf(asked: string): readonly Subject[] {
  const [, name, pid] = /^(.+)@(\d{1,15})$/s.exec(asked) ?? [];
  return name === undefined ? [{ name: asked }] : [{ name: asked }, { name, pid: Number(pid) }];
}

/** The ids of the children of an integration, and what those begin with that are started anew for each call; its own id, as it is shown, too. */
function idsOf(name: string): { readonly whole: readonly string[]; readonly beginnings: readonly string[] } {
  return {
    whole: [name, `mcp:${name}`, `integration:${name}`],
    beginnings: [`process:${name}:`, `hook:${name}:`],
  };
}

/** Tells whether an event with this metadata is about the integration, one of its children or a process of it. */
export function isAbout(metadata: Readonly<Record<string, unknown>>, asked: string): boolean {
  return subjectsOf(asked).some(({ name, pid }) => {
    if (pid !== undefined && metadata['runtime_pid'] !== pid) return false;
    const { whole, beginnings } = idsOf(name);
    return (
      metadata['integration'] === name ||
      childFields.some((field) => {
        const id = metadata[field];
        return typeof id === 'string' && (whole.includes(id) || beginnings.some((each) => id.startsWith(each)));
      })
    );
  });
}

/**
 * Texts of which the metadata of an event has one, as it stands in a table, when it names a child of the integration: to look for a text costs
 * less than to read the JSON of every row. Quotes within a value are escaped, so that no value holds such a text.
 */
export function childMarks(name: string): readonly string[] {
  const { whole, beginnings } = idsOf(name);
  const begun = (text: string): string => JSON.stringify(text).slice(0, -1);
  return childFields.flatMap((field) => [
    ...whole.map((id) => `"${field}":${JSON.stringify(id)}`),
    ...beginnings.map((id) => `"${field}":${begun(id)}`),
  ]);
}
