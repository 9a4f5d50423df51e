import { useState } from 'preact/hooks';
import { saveIncident } from './api.ts';
import { told } from './dialog.tsx';
import { isStale } from './live.ts';

/** Saves what happened around a session or an integration as a file, for who may look as well: nothing in it is secret, and nothing changes. */
export function IncidentButton({ of: id }: { readonly of: string }) {
  const [busy, setBusy] = useState(false);
  const off = busy || isStale.value;
  const save = async (): Promise<void> => {
    setBusy(true);
    told.value = await saveIncident(id);
    setBusy(false);
  };
  return (
    <button
      type="button"
      class="btn"
      aria-disabled={off}
      title={isStale.value ? 'Not connected' : undefined}
      onClick={() => !off && void save()}
    >
      Save incident
    </button>
  );
}
