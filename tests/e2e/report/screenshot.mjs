// node screenshot.mjs REPORT.html OUT.png [phone|desktop] [light|dark] [full|short]: a picture of a
// report, for the papers and for looking at it. `short` leaves out the tables and charts.
import { openReport, SIZES, startBrowser } from './browser.mjs';

const [report, out, size = 'desktop', colorScheme = 'light', part] = process.argv.slice(2);
if (!out || !SIZES[size]) {
    console.error('usage: node screenshot.mjs REPORT.html OUT.png [phone|desktop] [light|dark] [full|short]');
    process.exit(2);
}
const browser = await startBrowser();
try {
    const { page, problems } = await openReport(browser, report, { ...SIZES[size], colorScheme });
    if (part === 'short')
        await page.evaluate(() => { for (const id of ['measured', 'metrics', 'figures']) document.getElementById(id).hidden = true; });
    await page.screenshot({ path: out, fullPage: part === 'full' });
    for (const problem of problems) console.error(problem);
    process.exitCode = problems.length ? 1 : 0;
} finally {
    await browser.close();
}
