import type { Reporter, TestCase } from 'vitest/node';

// oxlint-disable import/no-default-export -- vitest loads a reporter by its default export
/** Names every test that failed before it passed: CI tries a test twice, and says so, as its machine is anybody's. */
export default class UnsteadyReporter implements Reporter {
  readonly #unsteady: string[] = [];

  onTestCaseResult(test: TestCase): void {
    if (test.diagnostic()?.flaky === true) this.#unsteady.push(`${test.module.relativeModuleId} > ${test.fullName}`);
  }

  onTestRunEnd(): void {
    for (const name of this.#unsteady) console.log(`unsteady: passed at its second try only: ${name}`);
  }
}
