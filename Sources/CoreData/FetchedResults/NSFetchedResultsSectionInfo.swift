import Foundation

/// A section of a fetched results controller.
///
///     let section = controller.sections![0]
///     print(section.name, section.numberOfObjects)         // "Dairy" 12
public protocol NSFetchedResultsSectionInfo {
    /// The value of the section's key path as text; empty for nil, and for a controller without sections.
    var name: String { get }
    /// What stands for the section in an index beside a list; most often its first letter.
    var indexTitle: String? { get }
    /// The number of objects in the section; reads none of them.
    var numberOfObjects: Int { get }
    /// The section's objects in order.
    var objects: [Any]? { get }
}
