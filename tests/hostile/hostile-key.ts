/** A key of the form that keys have, its own for these tests. */
export const hostileKey =
  'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiJob3N0aWxlLXRlc3RzIiwibiI6MTczfQ.Zk7_qY2wLrV9-bXc3NfTgHsJ4mPdRuKa6EoWi8yB1tQ'
