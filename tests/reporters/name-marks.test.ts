import { expect, test } from 'vitest'
import { nameMarks } from '../../reporters/name-marks.ts'

test.each([
  'Example Labs, staging 2',
  'Société générale · Zürich',
  'サービス Tokyo 東京',
  '百度 Cloud',
  '서울 Cloud',
  'Яндекс Облако',
  'Ελληνική Τράπεζα',
  'שירות',
  'خدمة',
  'बैंक',
  '',
  '127.0.0.1:8080',
])('%s is what it looks like', (name) => {
  expect(nameMarks(name)).toEqual([])
})

test.each<[string, string[]]>([
  ['Exаmple', ['letters of several scripts (Cyrillic, Latin)']],
  ['Αcme Bank', ['letters of several scripts (Greek, Latin)']],
  ['Яндекс Cloud', ['letters of several scripts (Cyrillic, Latin)']],
  ['Ꭺcme', ['letters of several scripts (Latin, another)']],
  ['東京 Банк', ['letters of several scripts (Cyrillic, Han)']],
  ['Асе', ['letters that look like Latin ones']],
  ['Exam\u200bple', ['characters that show nothing']],
  ['Exam\u00adple', ['characters that show nothing']],
  ['\u202eelpmaxE', ['characters that show nothing']],
])('%s is marked', (name, marks) => {
  expect(nameMarks(name)).toEqual(marks)
})
