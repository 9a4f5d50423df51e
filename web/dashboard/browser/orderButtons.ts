import type { OrderName } from '../../../operator/order.ts';

/** Texts of the two buttons of a question; neither may be taken for the other where the order ends something. */
interface ButtonTexts {
  readonly doText?: string;
  readonly keepText?: string;
}

/** @param of - the integration or session, and whether a part of it is meant. */
export function buttonsOf(order: OrderName, of: 'integration' | 'session', hasTarget: boolean): ButtonTexts {
  switch (order) {
    case 'cancel':
      return { doText: hasTarget ? 'Cancel the call' : 'Cancel the turn', keepText: 'Let it run' };
    case 'stop_retrying':
      return { doText: 'Stop retrying', keepText: 'Let it be tried again' };
    case 'restart':
      return { doText: of === 'session' ? 'Restart the session' : 'Restart it' };
    case 'send_again':
      return { doText: 'Send again' };
    case 'reset':
      return { doText: 'Reset the circuit' };
    case 'budget':
      return { doText: 'Raise it' };
    case 'hold':
    case 'let_go_on':
    case 'isolate':
    case 'probe':
    case 'fire':
    case 'drop':
    case 'forget':
    case 'acknowledge':
    case 'snooze':
      return {};
  }
}

/** The same of an order on many. @param verb - the order in a word or two. @param what - their number and noun. */
export function buttonsOfMany(order: OrderName, verb: string, what: string): Required<ButtonTexts> {
  const keepTexts: Partial<Record<OrderName, string>> = {
    cancel: 'Let them run',
    stop_retrying: 'Let them be tried again',
  };
  return { doText: `${verb} ${what}`, keepText: keepTexts[order] ?? 'Keep them as they are' };
}
