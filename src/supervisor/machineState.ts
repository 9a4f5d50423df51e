import type { AnyActorRef } from 'xstate';

/** The state of a machine, or the one it failed in; nested states as JSON. Undefined for what is no machine. Never throws. */
export function machineStateOf(ref: AnyActorRef): string | undefined {
  try {
    const snapshot: unknown = ref.getSnapshot();
    if (typeof snapshot !== 'object' || snapshot === null || !('value' in snapshot)) return undefined;
    return typeof snapshot.value === 'string' ? snapshot.value : JSON.stringify(snapshot.value);
  } catch {
    // An actor that is being created has no snapshot yet.
    return undefined;
  }
}
