/** Params of an action or a guard of a machine: its event as it is. */
export const itself = <E>({ event }: { readonly event: E }): E => event;
