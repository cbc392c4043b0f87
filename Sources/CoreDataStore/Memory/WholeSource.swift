/// A source whose content is one value.
package protocol WholeSource: RowSource {
    /// Its current content.
    var contents: MemoryContents { get }
}
