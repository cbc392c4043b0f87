import Foundation

/// A section of what a fetched results controller found.
///
///     let section = controller.sections![0]
///     print(section.name, section.numberOfObjects)         // "Dairy" 12
public protocol NSFetchedResultsSectionInfo {
    /// The value of the section's key path as text; empty for nil, and where there are no sections.
    var name: String { get }
    /// What stands for the section in an index beside a list; most often its first letter.
    var indexTitle: String? { get }
    /// How many objects the section has; reads none of them.
    var numberOfObjects: Int { get }
    /// The section's objects in order.
    var objects: [Any]? { get }
}
