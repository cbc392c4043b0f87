import CoreData
import UIKit

/// Shows a book. There is nothing to show it on elsewhere, so this file is left out there.
final class BookViewController: UIViewController {
    @IBOutlet private var titleLabel: UILabel!

    var book: Book? {
        didSet { titleLabel.text = book?.title }
    }

    @IBAction private func close(_ sender: Any) { dismiss(animated: true) }
}
