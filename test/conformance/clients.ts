import { type Fault, type Harm, playClient } from './round.ts';
import { conformanceClient, conformanceSignIn, unwedge, type Verdicts, worse } from './suite.ts';

/** The suite's scenarios for clients; those under `auth/` sign in. */
export const clientScenarios = [
  ...['initialize', 'tools_call', 'elicitation-sep1034-client-defaults', 'sse-retry'],
  ...[
    ...['metadata-default', 'metadata-var1', 'metadata-var2', 'metadata-var3', 'basic-cimd', 'pre-registration'],
    ...['scope-from-www-authenticate', 'scope-from-scopes-supported', 'scope-omitted-when-undefined', 'scope-step-up'],
    ...['scope-retry-limit', 'token-endpoint-auth-basic', 'token-endpoint-auth-post', 'token-endpoint-auth-none'],
    ...['2025-03-26-oauth-metadata-backcompat', '2025-03-26-oauth-endpoint-fallback', 'resource-mismatch'],
    ...['offline-access-scope', 'offline-access-not-supported'],
    ...['client-credentials-jwt', 'client-credentials-basic', 'cross-app-access-complete-flow'],
  ].map((name) => `auth/${name}`),
];

/** Why a verdict on unwedge is another one than that on the official client. */
const reasons: Readonly<Record<string, string>> = {
  'auth/basic-cimd':
    'unwedge registers at the authorization server; it has no metadata document at an address of its own',
  'auth/2025-03-26-oauth-metadata-backcompat':
    "the suite's authorization server calls itself by another address than its own, which unwedge does not trust",
  'auth/2025-03-26-oauth-endpoint-fallback':
    'unwedge signs in only where the authorization server says that it checks PKCE',
  'auth/client-credentials-jwt': 'a program shows its secret (`--client-secret-env`); keys are not offered',
};

/** Scenarios that are played under fire: in the others a person signs in, which nobody repeats by itself. */
const underFire = clientScenarios.filter((name) => !name.startsWith('auth/'));
/** What the suite can do to itself and still judge. */
const clientFaults = ['cut', 'stop', 'flood'] as const;

export interface ClientReport {
  readonly scenario: string;
  /** What was done to the suite's own server, and at which boundary. */
  readonly fault?: Fault | undefined;
  readonly at?: number | undefined;
  readonly direct: Verdicts;
  readonly through: Verdicts;
  /** Verdicts through unwedge that are worse than those without it, and without a fault. */
  readonly worse: Verdicts;
  readonly harm?: Harm | undefined;
  readonly explained?: string | undefined;
}

export interface ClientOptions {
  readonly scenarios?: readonly string[] | undefined;
  readonly faults?: readonly Fault[] | undefined;
  readonly progress?: ((line: string) => void) | undefined;
}

/** Compares what the suite says of an official client with what it says of the same client behind `unwedge mcp --url`, which signs in for it. */
export async function compareClients(options: ClientOptions): Promise<readonly ClientReport[]> {
  const reports: ClientReport[] = [];
  for (const scenario of options.scenarios ?? clientScenarios) {
    const { verdicts: direct } = await playClient(conformanceClient, scenario, noFault);
    const { verdicts: through } = await playClient(behind(scenario), scenario, noFault);
    reports.push({ scenario, direct, through, worse: worse(through, direct), explained: reasons[scenario] });
    options.progress?.(toldOf(reports.at(-1)));
  }
  return reports;
}

/** The same with a fault at each boundary of the messages. */
export async function fireClients(options: ClientOptions): Promise<readonly ClientReport[]> {
  const reports: ClientReport[] = [];
  for (const scenario of options.scenarios ?? underFire) {
    const { verdicts: direct } = await playClient(conformanceClient, scenario, noFault);
    const { boundaries } = await playClient(behind(scenario), scenario, noFault);
    const all = Array.from({ length: boundaries[scenario] ?? 0 }, (_, index) => index + 1);
    const chosen = clientFaults.filter((fault) => options.faults?.includes(fault) ?? true);
    for (const [at, fault] of all.flatMap((each) => chosen.map((one) => [each, one] as const))) {
      const { verdicts: through, harms } = await playClient(behind(scenario), scenario, { fault, at });
      const harm = harms[scenario];
      const explained = harm?.underWay === undefined ? undefined : 'lost';
      reports.push({ scenario, fault, at, direct, through, worse: worse(through, direct), harm, explained });
      options.progress?.(toldOf(reports.at(-1)));
    }
  }
  return reports;
}

const noFault = { fault: 'none', at: 0 } as const;

const behind = (scenario: string): readonly string[] =>
  scenario.startsWith('auth/')
    ? [...conformanceSignIn, unwedge[1]]
    : [...conformanceClient, ...unwedge, 'mcp', '--url'];

const toldOf = (report: ClientReport | undefined): string => {
  if (report === undefined) return '';
  const { scenario, fault = 'no fault', at = 0, worse: bad, explained } = report;
  const why =
    Object.keys(bad).length === 0
      ? ''
      : `: ${JSON.stringify(bad)} ${explained ?? 'unexplained'} ${JSON.stringify(report.harm)}`;
  return `client ${scenario}, ${fault} at ${at}${why}`;
};
