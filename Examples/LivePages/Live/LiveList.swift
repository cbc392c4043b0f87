import CoreData
import Foundation

/// A list of the pages, kept by a fetched results controller, whose changes become patches.
@MainActor package final class LiveList: NSObject {
    /// How the list looks.
    package struct Form {
        /// The ID of a row's element.
        let id: @MainActor (NSManagedObject) -> String
        package let request: NSFetchRequest<NSManagedObject>
        package let sectionKeyPath: String?
        /// A row's element, with ``LiveList/rowID(_:)`` as its ID.
        package let row: @MainActor (NSManagedObject) -> HTML
        /// A section around rows.
        package let section: @MainActor (_ name: String, _ count: Int, _ rows: HTML) -> HTML

        package init(
            request: NSFetchRequest<NSManagedObject>, sectionKeyPath: String?,
            row: @escaping @MainActor (NSManagedObject) -> HTML,
            section: @escaping @MainActor (_ name: String, _ count: Int, _ rows: HTML) -> HTML,
            id: @escaping @MainActor (NSManagedObject) -> String = { LiveList.rowID($0) }
        ) {
            self.id = id
            self.request = request
            self.sectionKeyPath = sectionKeyPath
            self.row = row
            self.section = section
        }
    }

    package let name: String
    private let form: Form
    private let controller: NSFetchedResultsController<NSManagedObject>
    private var patch = LivePatch()
    private var changed: Set<NSManagedObject> = []
    /// Those of the changed that came or moved.
    private var moved: Set<NSManagedObject> = []
    /// How rows looked when pages were last told, as hashes: a context tells of its own change again when its parent has saved it.
    private var told: [String: Int] = [:]
    /// Told of every change.
    package var onChange: ((LivePatch) -> Void)?

    package init(_ name: String, _ form: Form, in context: NSManagedObjectContext) throws {
        self.name = name
        self.form = form
        controller = NSFetchedResultsController(
            fetchRequest: form.request, managedObjectContext: context, sectionNameKeyPath: form.sectionKeyPath,
            cacheName: nil)
        super.init()
        controller.delegate = self
        try controller.performFetch()
    }

    /// The ID of a row's element.
    package static func rowID(_ object: NSManagedObject) -> String { "i\(object.number)" }

    package var count: Int { controller.fetchedObjects?.count ?? 0 }

    /// Sections with their rows, the first `limit` rows of them all.
    package func html(limit: Int) -> HTML {
        var left = limit
        var result: HTML = ""
        for section in controller.sections ?? [] where left > 0 {
            let objects = (section.objects as? [NSManagedObject] ?? []).prefix(left)
            left -= objects.count
            result += form.section(section.name, section.numberOfObjects, HTML.joined(objects.map(form.row)))
        }
        return result
    }

    /// How many rows a page has at most; the rest is asked for.
    private static let longestPage = 1000

    /// The list as a page has it, with a link to the rest of a very long one.
    package func html(for visit: Visit, of noun: String) -> HTML {
        guard count > Self.longestPage, visit.query["all"] == nil else { return html(limit: .max) }
        return """
            \(html(limit: Self.longestPage))<p class=end data-more><a class=button href="?all">Show all \(Count.of(count, noun))</a></p>
            """
    }

    /// Tells pages how the rows of these objects look now, though nothing changed that the list goes by.
    package func redraw(_ objects: some Sequence<NSManagedObject>) {
        patch = LivePatch()
        for object in objects { addRow(object) }
        tell()
    }

    /// Fetches the list again, where the context does not tell what changed; pages have to read it anew.
    package func fetchAgain() throws {
        told = [:]
        try controller.performFetch()
    }

    private func addRow(_ object: NSManagedObject) {
        guard let place = controller.indexPath(forObject: object) else { return }
        let before =
            place.item == 0
            ? nil : controller.object(at: IndexPath(item: place.item - 1, section: place.section))
        let row = LivePatch.Row(
            id: form.id(object), section: place.section, after: before.map(form.id),
            html: form.row(object).text)
        let hash = row.html.hashValue
        guard told.updateValue(hash, forKey: row.id) != hash || moved.contains(object) else { return }
        patch.rows.append(row)
    }

    private func tell() {
        for id in patch.gone { told[id] = nil }
        guard !patch.isEmpty else { return }
        onChange?(patch)
        patch = LivePatch()
    }
}

extension LiveList: @MainActor NSFetchedResultsControllerDelegate {
    package func controllerWillChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
        patch = LivePatch()
        changed = []
        moved = []
    }

    package func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChange sectionInfo: any NSFetchedResultsSectionInfo, atSectionIndex sectionIndex: Int,
        for type: NSFetchedResultsChangeType
    ) {
        if type == .delete {
            patch.goneSections.append(sectionIndex)
        } else {
            let html = form.section(sectionInfo.name, sectionInfo.numberOfObjects, "").text
            patch.sections.append(LivePatch.Section(index: sectionIndex, html: html))
        }
    }

    package func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
        at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
    ) {
        guard let object = anObject as? NSManagedObject else { return }
        if type == .delete { patch.gone.append(form.id(object)) } else { changed.insert(object) }
        if type == .insert || type == .move { moved.insert(object) }
    }

    package func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
        patch.goneSections.sort(by: >)
        patch.sections.sort { $0.index < $1.index }
        let places = changed.compactMap { object in
            self.controller.indexPath(forObject: object).map { (object, $0) }
        }
        for (object, _) in places.sorted(by: { $0.1 < $1.1 }) { addRow(object) }
        changed = []
        moved = []
        tell()
    }
}
