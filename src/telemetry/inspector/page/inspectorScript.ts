import { eventsScript } from './script/events.ts';
import { framesScript } from './script/frames.ts';
import { linkScript } from './script/link.ts';
import { stageScript } from './script/stage.ts';
import { treeScript } from './script/tree.ts';
import { wordsScript } from './script/words.ts';

/** Runs in the browser, on the frames of `/events`, as one plain script. Whatever is shown of others is set as text. */
export const inspectorScript = `
'use strict';
${[framesScript, wordsScript, treeScript, stageScript, eventsScript, linkScript].join('')}`;
