/** A kind of tool that the client runs, in items of OpenAI's responses. */
export interface ToolKind {
  /** Type of the item that calls. */
  readonly call: string;
  /** Types of the items that answer; the first is what a missing one becomes. */
  readonly outputs: readonly [string, ...string[]];
}

/** Calls of all other types are run by the server, within its own item. */
const kinds: readonly ToolKind[] = [
  { call: 'function_call', outputs: ['function_call_output'] },
  { call: 'custom_tool_call', outputs: ['custom_tool_call_output'] },
  // Programs answer it as if it were a function, and the service takes that.
  { call: 'local_shell_call', outputs: ['function_call_output', 'local_shell_call_output'] },
  { call: 'shell_call', outputs: ['shell_call_output'] },
  { call: 'apply_patch_call', outputs: ['apply_patch_call_output'] },
  { call: 'computer_call', outputs: ['computer_call_output'] },
];

export function kindOfCall(type: unknown): ToolKind | undefined {
  return kinds.find(({ call }) => call === type);
}

/** The kinds of call that an item of this type may answer. */
export function kindsOfOutput(type: unknown): readonly ToolKind[] {
  return kinds.filter(({ outputs }) => outputs.some((output) => output === type));
}

/** A transparent pixel: an answer to a computer's call must be a picture, and there is none. */
const noScreenshot =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';

/** Makes what stands for an output that never came. */
export function missingOutput({ outputs: [type] }: ToolKind, callId: string, sentence: string) {
  const item = { type, call_id: callId };
  switch (type) {
    case 'shell_call_output':
      // Only `timeout` and an exit code can be said; the code is not known.
      return { ...item, output: [{ stdout: '', stderr: sentence, outcome: { type: 'timeout' } }] };
    case 'apply_patch_call_output':
      return { ...item, status: 'failed', output: sentence };
    case 'computer_call_output':
      return { ...item, output: { type: 'computer_screenshot', image_url: noScreenshot } };
    default:
      return { ...item, output: sentence };
  }
}
