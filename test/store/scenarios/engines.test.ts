import { describe } from 'vitest';
import { keepsAlerts } from '../conformance/alerts.ts';
import { keepsBreakers } from '../conformance/breakers.ts';
import { keepsChildren } from '../conformance/children.ts';
import { memory, postgres, sqlite } from '../conformance/engine.ts';
import { hasPostgres } from '../../support/postgresServer.ts';
import { keepsEvents } from '../conformance/events.ts';
import { keepsFlights } from '../conformance/flights.ts';
import { keepsStatistics } from '../conformance/statistics.ts';
import { keepsMail } from '../conformance/mail.ts';
import { keepsRates } from '../conformance/rates.ts';
import { keepsRuntimes } from '../conformance/runtimes.ts';
import { keepsCalls } from '../conformance/calls.ts';
import { keepsDeadLetters } from '../conformance/deadLetters.ts';
import { keepsHistory } from '../conformance/history.ts';
import { keepsMessages } from '../conformance/messages.ts';
import { keepsOwners } from '../conformance/owners.ts';
import { hasSqlite } from '../startStore.ts';

const engines = [memory, ...(hasSqlite ? [sqlite] : []), ...(hasPostgres ? [postgres] : [])];

describe.each(engines)('the engine $name', (engine) => {
  keepsEvents(engine);
  keepsBreakers(engine);
  keepsRates(engine);
  keepsStatistics(engine);
  keepsFlights(engine);
  keepsAlerts(engine);
  keepsChildren(engine);
  keepsRuntimes(engine);
  keepsOwners(engine);
  keepsMessages(engine);
  keepsDeadLetters(engine);
  keepsCalls(engine);
  keepsHistory(engine);
  keepsMail(engine);
});
