import CoreDataModel
import CoreDataModelTools
import Foundation

/// Chooses the page of a place.
enum EditorPages {
    /// - Throws: an error for an element that does not exist.
    static func page(_ view: EditorView) throws -> Page {
        switch view.place {
        case .overview: return OverviewSection(view: view).page
        case .element(let path):
            guard view.bundle.element(path, in: view.version) != nil else {
                throw PageFailure.missing("There is no \(path.text) in version '\(view.version)'.")
            }
            return ElementPage(view: view, path: path).page
        case .graph: return GraphPage(view: view).page
        case .lint: return findings(view)
        case .compare: return try VersionComparePage(view: view).page
        case .code: return code(view)
        case .source: return source(view)
        case .conflict: return try ConflictPage(view: view).page
        }
    }

    /// The page after a form about an element that does not exist any more.
    static func missing(_ view: EditorView) -> Page {
        view.page(
            "Not found",
            """
            <h1>Not found</h1><p>The element was renamed or deleted meanwhile.</p>\
            <p><a class=button href="\(view.address(.overview))">To the model</a></p>
            """)
    }

    private static func findings(_ view: EditorView) -> Page {
        let summary = view.counts(view.findings) ?? "Nothing to mend"
        return view.page(
            "Findings",
            """
            <h1>Findings</h1><p>\(summary). Each button makes one change, which can be undone.</p>\
            \(view.list(view.findings))
            """)
    }

    private static func source(_ view: EditorView) -> Page {
        let text = view.bundle.text(of: view.version) ?? ""
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let numbered = lines.enumerated().map { index, line -> HTML in
            "<li id=\"L\(index + 1)\"><code>\(String(line))</code></li>"
        }
        let file = view.isEditable ? view.bundle.file(of: view.version) : "the model as a source"
        return view.page(
            "Source",
            """
            <h1>Source</h1><p>The content of <code>\(file)</code>.</p>\
            <div class=scroll tabindex=0><ol class=source>\(numbered)</ol></div>
            """, isWide: true)
    }

    private static func code(_ view: EditorView) -> Page {
        let content: HTML
        do {
            let files = try GeneratedClasses.files(of: view.document, named: view.bundle.name)
            let shown = files.map { file -> HTML in
                """
                <details id="\(file.name)"><summary>\(file.name)</summary>\
                <pre tabindex=0>\(file.text)</pre></details>
                """
            }
            content =
                files.isEmpty
                ? "<p>No entity has a class of its own: set Class in its settings.</p>" : HTML.joined(shown)
        } catch {
            content = """
                <div class="notice bad"><p>Classes are generated when the model has no errors: see \
                <a href="\(view.address(.lint))">Findings</a>.</p></div>
                """
        }
        return view.page(
            "Classes",
            """
            <h1>Classes</h1><p>The Swift classes of all entities, as <code>coredata model generate --all</code> writes \
            them.</p>\(content)
            """)
    }
}

/// The form that makes a model from nothing.
enum NewModelPage {
    static func page(_ visit: Visit, problem: String? = nil, name: String = "") -> Page {
        let message = problem.map { text -> HTML in "<p class=problem id=name-problem>\(text)</p>" }
        let marks: HTML = problem == nil ? "" : " aria-invalid=true aria-describedby=name-problem"
        return Page(
            title: "New model", section: .model,
            content: """
                <h1>New model</h1>
                <p>No model is open. Make one in the folder in which Studio was started, or start Studio with a model: \
                <code>coredata studio MODEL</code></p>
                <form method=post action="/model/new" class=card>\(visit.formField)
                <div class=field><label for=name>Name</label>\
                <input id=name name=name value="\(name)" required autocomplete=off spellcheck=false\(marks)>\(message)\
                <small>Library makes Library.xcdatamodeld</small></div>
                <button class=main>Make model</button></form>
                """)
    }
}
