import CoreDataModel
import CoreDataModelTools

/// The frame of the editor's pages: the list of elements, the version bar, notices.
extension EditorView {
    /// - Parameter content: the page with its heading.
    func page(_ title: String, _ content: HTML, isWide: Bool = false) -> Page {
        Page(
            title: "\(title) – \(bundle.name)", section: .model, crumbs: crumbs, side: side, isWide: isWide,
            content: "\(bar)\(notices)\(content)")
    }

    private var crumbs: [Page.Crumb] {
        var crumbs: [Page.Crumb] = []
        var above = place
        while above != .overview {
            above = above.parent
            let title = if case .element(let path) = above { path.name } else { bundle.name }
            crumbs.insert(Page.Crumb(title, address(above)), at: 0)
        }
        return crumbs
    }

    // MARK: Side

    private var side: HTML {
        let entities = document.entities.map { entity -> HTML in
            let path = ModelPath.entity(entity.name)
            let count = findings(of: path).count { $0.severity != .note }
            let mark: HTML = count > 0 ? "<span>\(count)<span class=sr> findings</span></span>" : ""
            return "<li>\(sideLink(path, mark))"
        }
        let groups: [(title: HTML, links: [HTML])] = [
            ("Entities", entities),
            ("Composites", document.composites.map { "<li>\(sideLink(.composite($0.name), ""))" }),
            ("Fetch Requests", document.fetchRequests.map { "<li>\(sideLink(.fetchRequest($0.name), ""))" }),
            ("Configurations", document.configurations.map { "<li>\(sideLink(.configuration($0.name), ""))" }),
        ]
        return HTML.joined(
            groups.filter { !$0.links.isEmpty }.map { group -> HTML in
                "<h2>\(group.title)</h2><ul>\(group.links)</ul>"
            })
    }

    private func sideLink(_ path: ModelPath, _ mark: HTML) -> HTML {
        let isCurrent = place == .element(path) || place.parent == .element(path)
        let current: HTML = isCurrent ? " aria-current=page" : ""
        return "<a href=\"\(address(.element(path)))\"\(current)>\(path.name)\(mark)</a>"
    }

    // MARK: Version bar

    private var bar: HTML {
        let choices = bundle.versions.map { version in
            (version.name, version.name == bundle.currentName ? "\(version.name) (current)" : version.name)
        }
        let chooser: HTML =
            bundle.versions.count < 2
            ? "<span class=tag>\(version)</span>"
            : """
            <form method=get action="\(place.address)" class=inline><label class=sr for=version-choice>Version</label>\
            <select id=version-choice name=version>\(options(choices, version))</select>\
            <button>Show</button></form>
            """
        let current: HTML =
            version == bundle.currentName
            ? "" : button("current", [], "Make current", label: "Make this version current")
        let add: HTML =
            bundle.isSingle
            ? ""
            : "<details class=add><summary>Add version</summary>\(adding)</details>"
        return """
            <div class="row versions">\(chooser)\(current)\(add)\(history)</div>
            <ul class=tabs>\(tabs)</ul>
            """
    }

    private var adding: HTML {
        let name = textField("Name of the version", "name", value: bundle.nextVersionName)
        return form("add-version", "\(name)<button class=main>Add a copy of \(version)</button>")
    }

    private var history: HTML {
        guard isEditable else { return "" }
        func step(_ action: String, _ word: String, _ title: String?) -> HTML {
            guard let title else {
                return "<button type=button disabled>\(word)</button>"
            }
            return form(
                action, class: "inline", "<button data-key=\"\(action)\" title=\"\(title)\">\(word)</button>")
        }
        let steps = [step("undo", "Undo", session.undoTitle), step("redo", "Redo", session.redoTitle)]
        return "<span class=steps>\(steps)</span>"
    }

    private var tabs: [HTML] {
        let problems = findings.count { $0.severity != .note }
        let tabs: [(EditorPlace, String)] = [
            (.overview, "Model"), (.graph, "Graph"), (.lint, problems > 0 ? "Findings (\(problems))" : "Findings"),
            (.compare, "Compare"), (.code, "Classes"), (.source, "Source"),
        ]
        return tabs.map { tab, title in
            let current: HTML = tab == place ? " aria-current=page" : ""
            return "<li><a href=\"\(address(tab))\"\(current)>\(title)</a>"
        }
    }

    // MARK: Notices

    private var notices: HTML {
        var notices: [HTML] = []
        if let refusal {
            notices.append("<div class=\"notice bad\" role=alert><p class=lines>\(refusal.notice)</p></div>")
        }
        if let reason = bundle[version]?.readOnlyReason {
            notices.append("<div class=notice><p>This version cannot be edited: \(reason).</p></div>")
        }
        let conflicts = (try? session.conflicts()) ?? []
        if !conflicts.isEmpty, place != .conflict {
            notices.append(
                """
                <div class="notice bad"><p>Another program changed the model's files on disk. Nothing was overwritten. \
                <a href="\(address(.conflict))">Show both</a></p></div>
                """)
        } else if !session.unsavedFiles.isEmpty, isEditable {
            notices.append(
                """
                <div class="notice bad"><p>Changes are not on disk yet.</p>\(button("save", [], "Save again"))</div>
                """)
        }
        return HTML.joined(notices)
    }
}
