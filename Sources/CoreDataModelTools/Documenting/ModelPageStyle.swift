import CoreDataModel

/// The style sheet of a ``ModelPage``: light, dark and print.
enum ModelPageStyle {
    static let css = """

        :root { --paper: #ffffff; --text: #1c2430; --faint: #5b6675; --rule: #d9e0e8; --stripe: #f5f7fa;
          --link: #2c5aa0; --code: #24324a; }
        @media screen and (prefers-color-scheme: dark) { :root { --paper: #15191f; --text: #e4e9f0; --faint: #a3afbd;
          --rule: #333d49; --stripe: #1c2229; --link: #8db4ee; --code: #d3dded; } }
        * { box-sizing: border-box; }
        html { scroll-behavior: smooth; }
        @media (prefers-reduced-motion: reduce) { html { scroll-behavior: auto; } }
        body { margin: 0 auto; padding: 2rem 1.5rem 4rem; max-width: 75rem; background: var(--paper); color: var(--text);
          font: 16px/1.5 system-ui, "Helvetica Neue", Helvetica, Arial, "Liberation Sans", sans-serif; }
        h1 { font-size: 2.1rem; line-height: 1.2; margin: 0; }
        h2 { font-size: 1.4rem; margin: 2.5rem 0 1rem; padding-bottom: .3rem; border-bottom: 1px solid var(--rule); }
        h3 { font-size: 1.15rem; margin: 0 0 .75rem; }
        h3 em { font-weight: normal; font-size: .9rem; color: var(--faint); }
        code { font: .92em ui-monospace, "SF Mono", Menlo, Consolas, "Liberation Mono", monospace; color: var(--code);
          overflow-wrap: anywhere; }
        h3 code { font: 700 1.25rem system-ui, "Helvetica Neue", Helvetica, Arial, "Liberation Sans", sans-serif;
          color: var(--text); }
        a { color: var(--link); text-decoration-thickness: 1px; text-underline-offset: 2px; }
        a code { color: inherit; }
        .skip { position: absolute; left: -100rem; }
        .skip:focus { left: 1rem; top: 1rem; background: var(--paper); padding: .5rem; }
        .lead, .note { color: var(--faint); margin: .4rem 0 0; }
        .note { font-size: .9rem; }
        .hash { font: .8rem ui-monospace, Menlo, Consolas, "Liberation Mono", monospace; overflow-wrap: anywhere; }
        nav ul { display: flex; flex-wrap: wrap; gap: .25rem 1rem; list-style: none; margin: 1.25rem 0 0; padding: 0; }
        .drawing { overflow-x: auto; border: 1px solid var(--rule); border-radius: 8px; }
        .drawing svg { display: block; margin: 0 auto; max-width: none; }
        article { margin: 0 0 2.5rem; scroll-margin-top: 1rem; }
        dl { display: grid; gap: .15rem 1.5rem; grid-template-columns: repeat(auto-fit, minmax(17rem, 1fr));
          margin: 0 0 1rem; }
        dl div { display: flex; gap: .6rem; }
        dl div:has(.hash) { grid-column: 1 / -1; }
        dt { color: var(--faint); white-space: nowrap; }
        dd { margin: 0; }
        .table { overflow-x: auto; margin: 0 0 1rem; }
        table { border-collapse: collapse; width: 100%; font-size: .9rem; }
        caption { text-align: left; color: var(--faint); font-weight: 600; font-size: .85rem; padding: .3rem 0; }
        th, td { text-align: left; vertical-align: top; padding: .35rem .75rem .35rem 0; border-bottom: 1px solid var(--rule);
          font-weight: normal; }
        .table td:nth-child(-n + 4) { white-space: nowrap; }
        .table td code { white-space: normal; }
        .table th code, .table a code { white-space: nowrap; }
        thead th { color: var(--faint); white-space: nowrap; }
        tr:target, article:target > h3 { background: var(--stripe); outline: 3px solid var(--stripe); }
        .index { columns: 16rem; list-style: none; padding: 0; margin: 0; font-size: .9rem; }
        @media print {
          :root { --paper: #fff; --text: #000; --faint: #444; --rule: #bbb; --link: #000; --code: #000; }
          body { max-width: none; padding: 0; font-size: 10pt; }
          nav, .skip { display: none; }
          .drawing { overflow: visible; border: 0; }
          .drawing svg { max-width: 100%; height: auto; }
          .table { overflow: visible; }
          h2, h3, caption { break-after: avoid; }
          tr, dl div { break-inside: avoid; }
        }

        """
}
