import { describe, expect, it } from 'vitest';
import * as mcpServer from '../src/mcpBoundary/index.ts';
import * as testing from '../src/testing/index.ts';
import * as unwedge from '../src/index.ts';

describe('the public names', () => {
  it('of the package are these', () => {
    expect(Object.keys(unwedge).sort()).toMatchInlineSnapshot(`
      [
        "AttemptError",
        "ConfigError",
        "IntegrationError",
        "approvalMachine",
        "classify",
        "connectCodex",
        "createAgent",
        "createClaude",
        "createGateway",
        "createSupervisor",
        "defineConfig",
        "failedExit",
        "failureKinds",
        "httpResponseOf",
        "inspectWithStately",
        "integrationMachine",
        "invokeClaude",
        "loadConfig",
        "openClawReason",
        "presets",
        "progressText",
        "readOpenClawConfig",
        "readPattern",
        "repairTranscript",
        "serverSentEvents",
        "sessionMachine",
        "showProgress",
        "subprocessMachine",
        "supervisorLogic",
        "systemClock",
        "treeText",
        "unwrap",
        "writeServerSentEvents",
      ]
    `);
  });

  it('for MCP servers are these', () => {
    expect(Object.keys(mcpServer).sort()).toMatchInlineSnapshot(`
      [
        "superviseMcpServer",
        "withErrorBoundary",
      ]
    `);
  });

  it('for tests are these', () => {
    expect(Object.keys(testing).sort()).toMatchInlineSnapshot(`
      [
        "SimulatedClock",
        "faultyMcpServer",
        "faultyUpstream",
        "seededRandom",
      ]
    `);
  });
});
