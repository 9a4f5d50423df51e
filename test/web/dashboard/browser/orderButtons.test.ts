import { expect, it } from 'vitest';
import { buttonsOf, buttonsOfMany } from '../../../../web/dashboard/browser/orderButtons.ts';
import { orderNames } from '../../../../operator/order.ts';

it('[O-13] no two buttons of a question can be taken for each other, of one and of many', () => {
  for (const order of orderNames) {
    const ofOne = { doText: order, keepText: 'Keep as it is', ...buttonsOf(order, 'session', false) };
    for (const { doText, keepText } of [ofOne, buttonsOfMany(order, order, '3 sessions')]) {
      expect(keepText).not.toMatch(/cancel/i);
      expect(doText).not.toBe(keepText);
    }
  }
});

it('[O-13] the buttons of an order on many name what is done to how many', () => {
  expect(buttonsOfMany('cancel', 'Cancel', '3 sessions')).toEqual({
    doText: 'Cancel 3 sessions',
    keepText: 'Let them run',
  });
  expect(buttonsOfMany('drop', 'Drop', '2 dead letters').doText).toBe('Drop 2 dead letters');
});
