/** Orders that an operator can give: of gateways that run, about dead letters and about alerts. */
export const orderNames = [
  'restart',
  'isolate',
  'reset',
  'probe',
  'fire',
  'stop_retrying',
  'cancel',
  'budget',
  'hold',
  'let_go_on',
  'send_again',
  'drop',
  'forget',
  'acknowledge',
  'snooze',
] as const;

export type OrderName = (typeof orderNames)[number];

/** Order of an operator. */
export interface Order {
  readonly order: OrderName;
  /** Name of an integration or a session. */
  readonly name: string;
  /** Part of the session that is meant: a rule, a call or a message, by its id; of `snooze` for how long, such as `2h`; of `budget` a limit, such as `tokens=3M`; of `forget` `close`, to end what is under way. */
  readonly target?: string | undefined;
  /** Why, in the words of who orders. */
  readonly why?: string | undefined;
  /** Name of who orders. */
  readonly by: string;
}
