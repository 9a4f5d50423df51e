import type { Reporter, TestCase } from 'vitest/node';

// oxlint-disable import/no-default-export -- vitest loads a reporter by its default export
/** Names every test that failed before it passed, and how: CI tries a test twice, and a test that needed it is the report of a fault. */
export default class UnsteadyReporter implements Reporter {
  readonly #unsteady: string[] = [];

  onTestCaseResult(test: TestCase): void {
    if (test.diagnostic()?.flaky !== true) return;
    const [error] = test.result().errors ?? [];
    const place = error?.stacks?.[0];
    const where = place === undefined ? '' : ` (line ${place.line})`;
    this.#unsteady.push(
      `${test.module.relativeModuleId} > ${test.fullName}: ${error?.message ?? 'nothing is known of its failure'}${where}`,
    );
  }

  onTestRunEnd(): void {
    for (const name of this.#unsteady) console.log(`unsteady: passed at its second try only: ${name}`);
  }
}
