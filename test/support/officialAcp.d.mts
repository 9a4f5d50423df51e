import type { AcpPipes } from '../../testing/index.ts';

/** The official client on the pipes of an agent; permissions get the option with this id. */
export function officialAcpClient(
  agent: AcpPipes,
  optionId?: string,
): {
  readonly updates: readonly { readonly sessionUpdate: string; readonly content?: { readonly text?: string } }[];
  readonly connection: { readonly agent: { notify(method: string, params: object): Promise<void> }; close(): void };
  request(method: string, params: object): Promise<Readonly<Record<string, unknown>>>;
};
