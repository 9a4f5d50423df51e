import type { HistoryRows } from '../history/journalEntry.ts';

/** Asks the database. */
export type Ask = (text: string, values?: readonly unknown[]) => Promise<readonly Record<string, unknown>[]>;

/**
 * Has the database itself write down whose each session is, and which write came from somebody else: nodes sign in by names of their own. The lease
 * is locked by whoever writes, so what is written down here has the order in which it came about. A full disk is a row of `audit.disk`.
 */
const triggers = `
CREATE SCHEMA audit;
GRANT ALL ON SCHEMA audit TO public;
CREATE TABLE audit.lease (
  id bigserial PRIMARY KEY, session text, token bigint, owner text, at double precision, until double precision,
  before_token bigint, before_owner text, before_until double precision);
CREATE TABLE audit.write (id bigserial PRIMARY KEY, session text, tbl text, row_id text, writer text, owner text, token bigint);
CREATE TABLE audit.disk (full_until timestamptz);
ALTER TABLE unwedge.lease ADD COLUMN holder text;

CREATE FUNCTION audit.ms(at timestamptz) RETURNS double precision LANGUAGE sql AS 'SELECT extract(epoch FROM at)::double precision * 1000';

CREATE FUNCTION audit.ends(which text) RETURNS timestamptz LANGUAGE sql AS 'SELECT expires_at FROM unwedge.node WHERE id = which';

CREATE FUNCTION audit.lease_changed() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE at timestamptz := clock_timestamp();
BEGIN
  IF TG_OP = 'UPDATE' AND NEW.owner IS NOT DISTINCT FROM OLD.owner AND NEW.token = OLD.token THEN RETURN NEW; END IF;
  NEW.holder := CASE WHEN NEW.owner IS NULL THEN NULL ELSE session_user END;
  INSERT INTO audit.lease (session, token, owner, at, until, before_token, before_owner, before_until)
  SELECT NEW.key, NEW.token, NEW.owner, audit.ms(at), audit.ms(coalesce(audit.ends(NEW.owner), at)),
    CASE TG_OP WHEN 'UPDATE' THEN OLD.token END, CASE TG_OP WHEN 'UPDATE' THEN OLD.owner END,
    CASE TG_OP WHEN 'UPDATE' THEN audit.ms(coalesce(audit.ends(OLD.owner), at)) END;
  RETURN NEW;
END $$;
CREATE TRIGGER audit BEFORE INSERT OR UPDATE ON unwedge.lease FOR EACH ROW EXECUTE FUNCTION audit.lease_changed();

CREATE FUNCTION audit.node_renewed() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE at timestamptz := clock_timestamp();
BEGIN
  IF NEW.expires_at > at + interval '1 minute' THEN
    INSERT INTO audit.lease (session, token, owner, at, until) VALUES ('all of ' || NEW.id, 0, NEW.id, audit.ms(at), audit.ms(NEW.expires_at));
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER audit AFTER INSERT OR UPDATE ON unwedge.node FOR EACH ROW EXECUTE FUNCTION audit.node_renewed();

CREATE FUNCTION audit.row_written() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE held record;
BEGIN
  SELECT l.holder, l.token, audit.ends(l.owner) > clock_timestamp() AS live INTO held FROM unwedge.lease l WHERE l.key = NEW.session;
  IF held.holder IS DISTINCT FROM session_user THEN
    INSERT INTO audit.write (session, tbl, row_id, writer, owner, token)
    VALUES (NEW.session, TG_TABLE_NAME, CASE TG_TABLE_NAME WHEN 'call' THEN to_jsonb(NEW)->>'id' ELSE to_jsonb(NEW)->>'number' END,
      session_user, CASE WHEN held.live THEN held.holder END, coalesce(held.token, 0));
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER audit AFTER INSERT OR UPDATE ON unwedge.message FOR EACH ROW EXECUTE FUNCTION audit.row_written();
CREATE TRIGGER audit AFTER INSERT OR UPDATE ON unwedge.call FOR EACH ROW EXECUTE FUNCTION audit.row_written();

CREATE FUNCTION audit.disk_full() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT 1 FROM audit.disk WHERE full_until > clock_timestamp()) THEN
    RAISE EXCEPTION USING ERRCODE = '53100', MESSAGE = 'could not extend file: No space left on device';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER disk BEFORE INSERT OR UPDATE ON unwedge.message EXECUTE FUNCTION audit.disk_full();
CREATE TRIGGER disk BEFORE INSERT OR UPDATE ON unwedge.call EXECUTE FUNCTION audit.disk_full();
CREATE TRIGGER disk BEFORE INSERT OR UPDATE ON unwedge.event EXECUTE FUNCTION audit.disk_full();
CREATE TRIGGER disk BEFORE INSERT OR UPDATE ON unwedge.writer EXECUTE FUNCTION audit.disk_full();
`;

/** Sets up the audit of a migrated schema `unwedge`, and the names under which nodes sign in: they may be those of other databases already. */
export async function audit(ask: Ask, nodes: readonly string[]): Promise<void> {
  await ask(triggers);
  const known = new Set((await ask('SELECT rolname FROM pg_roles')).map((row) => row['rolname']));
  for (const node of nodes) if (!known.has(node)) await ask(`CREATE ROLE ${node} LOGIN SUPERUSER`);
}

/** No statement that needs space succeeds for so long. */
export async function fillDisk(ask: Ask, ms: number): Promise<void> {
  await ask(`INSERT INTO audit.disk SELECT clock_timestamp() + $1::integer * interval '1 ms'`, [Math.round(ms)]);
}

/** The number of the last change of a lease. */
export async function lastChange(ask: Ask): Promise<number> {
  const [row] = await ask('SELECT coalesce(max(id), 0) AS id FROM audit.lease');
  return Number(row?.['id']);
}

/** One taking of a session. */
export interface Taking {
  readonly session: string;
  readonly owner: string;
  readonly at: number;
}

/** Who took which session after a change. */
export async function takings(ask: Ask, after: number): Promise<readonly Taking[]> {
  const text = 'SELECT session, owner, at FROM audit.lease WHERE id > $1 AND owner IS NOT NULL ORDER BY id';
  return (await ask(text, [after])).map((row) => ({
    session: String(row['session']),
    owner: String(row['owner']),
    at: Number(row['at']),
  }));
}

/** The sessions that a node holds now, and as whom. */
export async function heldBy(ask: Ask, node: string): Promise<readonly { session: string; owner: string }[]> {
  const text = 'SELECT key, owner FROM unwedge.lease WHERE holder = $1 AND audit.ends(owner) > clock_timestamp()';
  return (await ask(text, [node])).map((row) => ({ session: String(row['key']), owner: String(row['owner']) }));
}

/** What the database says in the end. */
export async function readRows(ask: Ask): Promise<HistoryRows> {
  const messages = await ask(
    'SELECT session, number, key, state, deliveries FROM unwedge.message ORDER BY session, number',
  );
  const calls = await ask('SELECT id, session, state, left(md5(result), 12) AS result FROM unwedge.call');
  const leases = await ask('SELECT * FROM audit.lease ORDER BY id');
  const writes = await ask('SELECT * FROM audit.write ORDER BY id');
  return {
    messages: messages.map((row) => ({
      session: String(row['session']),
      number: Number(row['number']),
      key: textOrNull(row['key']),
      state: String(row['state']),
      deliveries: Number(row['deliveries']),
    })),
    calls: calls.map((row) => ({
      id: String(row['id']),
      session: String(row['session']),
      state: String(row['state']),
      result: textOrNull(row['result']),
    })),
    leases: leases.map((row) => ({
      session: String(row['session']),
      token: Number(row['token']),
      owner: textOrNull(row['owner']),
      at: Number(row['at']),
      until: Number(row['until']),
      before:
        row['before_token'] === null
          ? null
          : {
              token: Number(row['before_token']),
              owner: textOrNull(row['before_owner']),
              until: Number(row['before_until']),
            },
    })),
    writes: writes.map((row) => ({
      session: String(row['session']),
      table: row['tbl'] === 'call' ? 'call' : 'message',
      row: String(row['row_id']),
      writer: String(row['writer']),
      owner: textOrNull(row['owner']),
      token: Number(row['token']),
    })),
  };
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
