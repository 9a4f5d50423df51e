import { lateModule } from '../process/lateModule.ts';

/** Files of the MCP client and zod, which Node 20 reads at once. */
export const filesOfClient = 96;

/** The client of the protocol's authors, for its sign-ins. */
export const clientModule = lateModule(() => import('@modelcontextprotocol/client'), filesOfClient);
