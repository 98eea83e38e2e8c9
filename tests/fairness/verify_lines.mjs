// Standard input: a line for each record, base64. Standard output: a line for each verdict.
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

const source = readFileSync(process.argv[2]);
const { verifyRecord, Unreadable } = await import(`data:text/javascript;base64,${source.toString("base64")}`);
const keys = process.argv.slice(3);

for await (const line of createInterface({ input: process.stdin })) {
  let verdict;
  try {
    const report = await verifyRecord(new Uint8Array(Buffer.from(line, "base64")), keys);
    verdict = report.checks.filter((check) => !check.ok).map((check) => check.name);
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    verdict = ["unreadable"];
  }
  process.stdout.write(JSON.stringify(verdict) + "\n");
}
