import Foundation

// What UIKit and AppKit add to index paths on Apple's platforms.
extension IndexPath {
    /// Makes the path of an item of a section, as collection views call it.
    public init(item: Int, section: Int) { self.init(indexes: [section, item]) }

    /// Makes the path of a row of a section, as table views call it; equal to one made of the same item.
    public init(row: Int, section: Int) { self.init(indexes: [section, row]) }

    /// The first index: which section.
    ///
    /// - Precondition: the path has two indexes.
    public var section: Int {
        get { self[0] }
        set { self[0] = newValue }
    }

    /// The second index: which item of the section.
    ///
    /// - Precondition: the path has two indexes.
    public var item: Int {
        get { self[1] }
        set { self[1] = newValue }
    }

    /// The second index: which row of the section.
    ///
    /// - Precondition: the path has two indexes.
    public var row: Int {
        get { self[1] }
        set { self[1] = newValue }
    }
}
