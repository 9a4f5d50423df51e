/** Facts of what operators do. */
export interface OperatorFacts {
  /** An operator had an integration or a session restarted; `calls` were in flight and end by that, or are sent again. No failure. */
  'operator.restarted': {
    integration?: string | undefined;
    session?: string | undefined;
    /** Part that was started anew: the process behind it, the actor of the session, or nothing but calls and circuit. */
    what: 'server' | 'session' | 'calls';
    calls: number;
  } & OrderFact;
  /** An operator holds the circuit of an integration open: its calls are refused until it is reset. */
  'operator.isolated': { integration: string } & OrderFact;
  /** An operator had the circuit of an integration closed. */
  'operator.reset': { integration: string } & OrderFact;
  /** An operator asked for the next probe of an open circuit, or of a server that asked not to be called, now: `next_call` where a call has to be it. */
  'operator.probed': {
    integration: string;
    /** Tool whose circuit it is; without one, that of the integration. */
    tool?: string | undefined;
    how: 'probe' | 'waiting_call' | 'next_call';
  } & OrderFact;
  /** An operator had a rule that was to end a wait act at once, `inMs` before its time. What it ends is told as if it had come by itself. */
  'operator.fired': {
    session: string;
    turn: number;
    rule: string;
    /** Work that the rule ends: a tool, a question, a turn. */
    what: string;
    call?: string | undefined;
    integration?: string | undefined;
    inMs: number;
  } & OrderFact;
  /** An operator had a call not be tried again: what its attempt `attempt` ends with is its end. */
  'operator.retries_stopped': {
    session: string;
    call: string;
    integration: string;
    tool: string;
    attempt: number;
  } & OrderFact;
  /** An operator ended a tool call, or without `call` the whole turn. The session goes on. */
  'operator.cancelled': {
    session: string;
    turn: number;
    call?: string | undefined;
    integration?: string | undefined;
    tool?: string | undefined;
  } & OrderFact;
  /** An operator had calls refused that are equal to one that was repeated, or had repetition counted anew. */
  'operator.repetition': { session: string; turn: number; tool: string; order: 'hold' | 'let_go_on' } & OrderFact;
  /** An operator had a dead letter delivered again, as the new message `as`. */
  'operator.sent_again': {
    session: string;
    message: string;
    as: string;
  } & OrderFact;
  /** An operator dropped a dead letter. */
  'operator.dropped': { session: string; message: string } & OrderFact;
  /** An operator had a session erased, with so many rows. It is not named: nothing of it is left. */
  'operator.forgot': { rows: number } & OrderFact;
  /** Somebody looks after what an alert is about: it needs nobody else. Ends with the alert. */
  'operator.acknowledged': {
    integration: string;
    /** Its id; absent of one that nobody watches. */
    alert?: string | undefined;
  } & OrderFact;
  /** An alert is to need nobody for a time, or until it ends. */
  'operator.snoozed': {
    integration: string;
    /** Its id; absent of one that nobody watches. */
    alert?: string | undefined;
    /** Wall time in ms since the epoch. */
    until: number;
  } & OrderFact;
}

/** Fields that the facts of all orders have in common. */
export interface OrderFact {
  /** Author and reason of it, where they said so. */
  by?: string | undefined;
  why?: string | undefined;
}
