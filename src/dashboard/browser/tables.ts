import type { AlertLine, BulkLine, IntegrationLine, RuntimeLine, SessionLine, Wait } from '../snapshot.ts';
import { Rows } from './rows.ts';

/** The lists of the last snapshot. */
export const tables = {
  runtimes: new Rows<RuntimeLine>(),
  integrations: new Rows<IntegrationLine>(),
  sessions: new Rows<SessionLine>(),
  waits: new Rows<Wait>(),
  alerts: new Rows<AlertLine>(),
  bulks: new Rows<BulkLine>(),
};
