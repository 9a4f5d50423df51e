import { describe } from 'vitest';
import { keepsAlerts } from '../conformance/alerts.ts';
import { keepsBreakers } from '../conformance/breakers.ts';
import { keepsChildren } from '../conformance/children.ts';
import { memory, sqlite } from '../conformance/engine.ts';
import { keepsEvents } from '../conformance/events.ts';
import { keepsFlights } from '../conformance/flights.ts';
import { keepsStatistics } from '../conformance/statistics.ts';
import { keepsRates } from '../conformance/rates.ts';
import { keepsRuntimes } from '../conformance/runtimes.ts';
import { keepsSessions } from '../conformance/sessions.ts';
import { hasSqlite } from '../startStore.ts';

describe.each(hasSqlite ? [memory, sqlite] : [memory])('the engine $name', (engine) => {
  keepsEvents(engine);
  keepsBreakers(engine);
  keepsRates(engine);
  keepsStatistics(engine);
  keepsFlights(engine);
  keepsAlerts(engine);
  keepsChildren(engine);
  keepsRuntimes(engine);
  keepsSessions(engine);
});
