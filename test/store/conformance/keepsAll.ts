import { keepsAlerts } from './alerts.ts';
import { keepsBreakers } from './breakers.ts';
import { keepsBudgets } from './budgets.ts';
import { keepsCalls } from './calls.ts';
import { keepsChildren } from './children.ts';
import { keepsDeadLetters } from './deadLetters.ts';
import { keepsEvents } from './events.ts';
import { keepsFlights } from './flights.ts';
import { keepsHistory } from './history.ts';
import { keepsMail } from './mail.ts';
import { keepsMessages } from './messages.ts';
import { keepsOwners } from './owners.ts';
import { keepsQuestions } from './questions.ts';
import { keepsRates } from './rates.ts';
import { keepsRuntimes } from './runtimes.ts';
import { keepsSpinning } from './spinning.ts';
import { keepsStatistics } from './statistics.ts';
import type { Engine } from './engine.ts';

/** What each engine keeps, alike. */
export function keepsAll(engine: Engine): void {
  keepsEvents(engine);
  keepsBreakers(engine);
  keepsRates(engine);
  keepsBudgets(engine);
  keepsStatistics(engine);
  keepsFlights(engine);
  keepsSpinning(engine);
  keepsQuestions(engine);
  keepsAlerts(engine);
  keepsChildren(engine);
  keepsRuntimes(engine);
  if (!engine.isShared) return;
  keepsOwners(engine);
  keepsMessages(engine);
  keepsDeadLetters(engine);
  keepsCalls(engine);
  keepsHistory(engine);
  keepsMail(engine);
}
