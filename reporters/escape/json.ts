import { withoutCommands } from './visible.ts'

/** Not escaped by JSON itself, but able to disguise the text of a target where the file is shown on a terminal. */
const disguising =
  /[\u007f-\u009f\p{Zl}\p{Zp}\p{Bidi_Control}\p{Noncharacter_Code_Point}\p{Default_Ignorable_Code_Point}]/gu

/** JSON that reads back as the same value and holds no character that hides or disguises, and no command to a runner. */
export function json(value: unknown, indent?: number): string {
  return withoutCommands(JSON.stringify(value, null, indent), escaped).replace(disguising, escaped)
}

function escaped(character: string): string {
  let units = ''
  for (let at = 0; at < character.length; at++)
    units += `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`
  return units
}
