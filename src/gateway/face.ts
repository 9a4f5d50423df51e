// Names what the source outside of the core uses of this folder; nothing within the core imports it.
export { createGateway } from './gateway.ts';
export type { Gateway } from './gatewayTypes.ts';
export type { UntakenMessage } from './untaken.ts';
