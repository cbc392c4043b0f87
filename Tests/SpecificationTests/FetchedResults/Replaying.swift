import CoreData
import Foundation
import Testing

/// Sections of a list, by their names, with what stands for their objects.
struct ListPicture: Equatable, CustomStringConvertible {
    struct Section: Equatable {
        var name: String
        var items: [NSManagedObjectID]
    }

    var sections: [Section] = []

    init() {}

    init(_ controller: NSFetchedResultsController<NSManagedObject>) {
        sections = (controller.sections ?? []).map { section in
            Section(name: section.name, items: (section.objects as? [NSManagedObject] ?? []).map(\.objectID))
        }
    }

    init(_ snapshot: NSDiffableDataSourceSnapshot<String, NSManagedObjectID>) {
        sections = snapshot.sectionIdentifiers.map {
            Section(name: $0, items: snapshot.itemIdentifiers(inSection: $0))
        }
    }

    var description: String {
        sections.map { section in
            let items = section.items.map { $0.uriRepresentation().lastPathComponent.suffix(6) }
            return "\(section.name): \(items.joined(separator: " "))"
        }.joined(separator: "\n")
    }
}

/// A delegate that keeps a list of its own by doing what it is told.
protocol ListReplay: NSFetchedResultsControllerDelegate {
    var list: ListPicture { get }
    func begin(_ controller: NSFetchedResultsController<NSManagedObject>)
}

/// Follows the calls for single sections and objects, as a table view does: what leaves by the old places, what arrives by the new.
final class CallReplay: NSObject, ListReplay {
    private var sections: [(name: String, objects: [NSManagedObject])] = []
    private var deletedSections: [Int] = []
    private var insertedSections: [(Int, String)] = []
    private var removed: [IndexPath] = []
    private var inserted: [(IndexPath, NSManagedObject)] = []
    private var isChanging = false
    private(set) var counts: [NSFetchedResultsChangeType: Int] = [:]

    var list: ListPicture {
        var list = ListPicture()
        list.sections = sections.map { .init(name: $0.name, items: $0.objects.map(\.objectID)) }
        return list
    }

    func begin(_ controller: NSFetchedResultsController<NSManagedObject>) {
        sections = (controller.sections ?? []).map { ($0.name, $0.objects as? [NSManagedObject] ?? []) }
    }

    func controllerWillChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
        #expect(!isChanging)
        isChanging = true
        (deletedSections, insertedSections, removed, inserted) = ([], [], [], [])
    }

    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChange sectionInfo: any NSFetchedResultsSectionInfo, atSectionIndex sectionIndex: Int,
        for type: NSFetchedResultsChangeType
    ) {
        #expect(isChanging && removed.isEmpty && inserted.isEmpty, "sections come before objects")
        if type == .delete {
            #expect(sections[sectionIndex].name == sectionInfo.name)
            deletedSections.append(sectionIndex)
        } else {
            #expect(type == .insert)
            insertedSections.append((sectionIndex, sectionInfo.name))
        }
    }

    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
        at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
    ) {
        guard let object = anObject as? NSManagedObject else {
            Issue.record("\(anObject)")
            return
        }
        counts[type, default: 0] += 1
        #expect((indexPath != nil) == (type != .insert))
        #expect((newIndexPath != nil) == (type == .insert || type == .move))
        if let indexPath {
            #expect(sections[indexPath.section].objects[indexPath.row] === object, "\(type) of another object")
            if type != .update { removed.append(indexPath) }
        }
        if let newIndexPath { inserted.append((newIndexPath, object)) }
    }

    func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
        isChanging = false
        for path in removed.sorted(by: >) { sections[path.section].objects.remove(at: path.row) }
        for index in deletedSections.sorted(by: >) {
            #expect(sections[index].objects.isEmpty, "objects of a deleted section are told of")
            sections.remove(at: index)
        }
        for (index, name) in insertedSections.sorted(by: { $0.0 < $1.0 }) { sections.insert((name, []), at: index) }
        for (path, object) in inserted.sorted(by: { $0.0 < $1.0 }) {
            sections[path.section].objects.insert(object, at: path.row)
        }
    }
}

/// Takes every snapshot as it is.
final class SnapshotReplay: NSObject, ListReplay {
    private(set) var list = ListPicture()

    func begin(_ controller: NSFetchedResultsController<NSManagedObject>) {}

    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChangeContentWith snapshot: NSDiffableDataSourceSnapshotReference
    ) {
        list = ListPicture(NSDiffableDataSourceSnapshot<String, NSManagedObjectID>(snapshot))
    }
}

/// Applies each difference to the one before.
final class DifferenceReplay: NSObject, ListReplay {
    private var items: [NSManagedObjectID] = []

    var list: ListPicture {
        var list = ListPicture()
        list.sections = [.init(name: "", items: items)]
        return list
    }

    func begin(_ controller: NSFetchedResultsController<NSManagedObject>) {
        items = (controller.fetchedObjects ?? []).map(\.objectID)
    }

    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChangeContentWith diff: CollectionDifference<NSManagedObjectID>
    ) {
        for case .remove(let offset, let id, _) in diff { #expect(items[offset] == id) }
        guard let applied = items.applying(diff) else {
            Issue.record("a difference that cannot be applied: \(diff)")
            return
        }
        items = applied
    }
}
