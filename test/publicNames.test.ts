import { describe, expect, it } from 'vitest';
import * as testing from '../src/testing/index.ts';
import * as unwedge from '../src/index.ts';

describe('the public names', () => {
  it('of the package are these', () => {
    expect(Object.keys(unwedge).sort()).toMatchInlineSnapshot(`
      [
        "AttemptError",
        "IntegrationError",
        "approvalMachine",
        "classify",
        "createClaude",
        "createGateway",
        "createSupervisor",
        "failedExit",
        "failureKinds",
        "integrationMachine",
        "invokeClaude",
        "openClawReason",
        "presets",
        "readOpenClawConfig",
        "repairTranscript",
        "sessionMachine",
        "subprocessMachine",
        "supervisorLogic",
        "systemClock",
        "treeText",
        "unwrap",
      ]
    `);
  });

  it('for tests are these', () => {
    expect(Object.keys(testing).sort()).toMatchInlineSnapshot(`
      [
        "SimulatedClock",
        "seededRandom",
      ]
    `);
  });
});
