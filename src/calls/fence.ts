/** Token that an attempt is admitted under: one generation of the circuit in one incarnation of the machine. A new object for each. */
export interface Fence {
  readonly generation: number;
}
