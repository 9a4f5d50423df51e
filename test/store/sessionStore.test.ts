import { conformsToSessionStore, type Engine } from './sessionStoreConformance.ts';
import { hasSqlite, openDatabase, startStore } from './startStore.ts';

async function startSqlite(): Promise<Engine> {
  const { store, clock, path } = await startStore();
  const dead = new Set<string>();
  return {
    runtime(id) {
      store.runtimes.enter({
        id,
        pid: 1,
        processStart: '',
        startedAt: clock.wallNow(),
        renewedAt: clock.wallNow(),
        name: id,
        socket: undefined,
      });
      const sessions = store.sessions({ id, isAlive: (run) => !dead.has(run.id) });
      if (sessions === undefined) throw new Error('a file keeps sessions');
      return sessions;
    },
    kill: (id) => void dead.add(id),
    settle: () => clock.settle(),
    recorded: () =>
      openDatabase(path)
        .prepare('SELECT event_type FROM events ORDER BY id')
        .all()
        .map((row) => String(row['event_type'])),
    deliveries: () =>
      openDatabase(path)
        .prepare('SELECT deliveries FROM unwedge_messages ORDER BY session, number')
        .all()
        .map((row) => Number(row['deliveries'])),
    damage(session, message) {
      openDatabase(path)
        .prepare('UPDATE unwedge_messages SET body = ? WHERE session = ? AND number = ?')
        .run('{"kind":', session, message);
    },
  };
}

if (hasSqlite) conformsToSessionStore('SQLite', startSqlite);
