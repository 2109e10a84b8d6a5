import { test } from 'vitest'
import { expectNoKey } from './no-key.ts'

test('no key is in any report or on the terminal, whatever is asked of a target that repeats it', () =>
  expectNoKey(''))
