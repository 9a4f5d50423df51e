import { Head } from './head.tsx';
import { Letters } from './letters.tsx';

/** Every message that was accepted and that nobody will process by itself. */
export function DeadLetters() {
  return (
    <>
      <Head title="Dead letters">
        Messages that were accepted and that nobody processes unless a person sends them again
      </Head>
      <Letters />
    </>
  );
}
