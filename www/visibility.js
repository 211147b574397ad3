// Who sees what one makes: a choice where there are users.

import { field, select } from './dom.js';

/** A field with the choice; its value is '' for what the server's settings say. `me` is null where nobody is signed in. */
export function visibilityField(id, label, me) {
  const choices = [['', 'as the server has it'], ['lab', 'every user'], ...(me?.group ? [['group', `group ${me.group}`]] : []), ['private', 'only you']];
  const control = select({ id }, choices);
  const node = field(label, control);
  node.hidden = !me || me.open;
  return { node, value: () => (node.hidden ? '' : control.value) };
}
