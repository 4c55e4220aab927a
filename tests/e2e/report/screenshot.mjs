// node screenshot.mjs REPORT.html OUT.png [phone|desktop] [light|dark] [full]: a picture of a report,
// for the papers and for looking at it.
import { openReport, SIZES, startBrowser } from './browser.mjs';

const [report, out, size = 'desktop', colorScheme = 'light', full] = process.argv.slice(2);
if (!out || !SIZES[size]) {
    console.error('usage: node screenshot.mjs REPORT.html OUT.png [phone|desktop] [light|dark] [full]');
    process.exit(2);
}
const browser = await startBrowser();
try {
    const { page, problems } = await openReport(browser, report, { ...SIZES[size], colorScheme });
    await page.screenshot({ path: out, fullPage: full === 'full' });
    for (const problem of problems) console.error(problem);
    process.exitCode = problems.length ? 1 : 0;
} finally {
    await browser.close();
}
