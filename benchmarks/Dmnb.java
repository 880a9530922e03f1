// WEKA's DMNBtext from inside: java -cp weka.jar Dmnb.java TRAIN.arff TEST.arff ROUNDS [OPTIONS OF DMNBtext]
//
// Prints the seconds of each of some rounds of training, then the class distribution of each test document.
import java.io.BufferedReader;
import java.io.FileReader;
import java.util.Arrays;
import weka.classifiers.bayes.DMNBtext;
import weka.core.Instances;

public class Dmnb {
  static Instances read(String path) throws Exception {
    try (BufferedReader file = new BufferedReader(new FileReader(path))) {
      Instances documents = new Instances(file);
      documents.setClassIndex(documents.numAttributes() - 1);
      return documents;
    }
  }

  public static void main(String[] args) throws Exception {
    Instances train = read(args[0]);
    Instances test = read(args[1]);
    DMNBtext model = null;
    for (int round = 0; round < Integer.parseInt(args[2]); ++round) {
      model = new DMNBtext();
      model.setOptions(Arrays.copyOfRange(args, 3, args.length));
      long begin = System.nanoTime();
      model.buildClassifier(train);
      System.out.println((System.nanoTime() - begin) / 1e9);
    }
    for (int d = 0; d < test.numInstances(); ++d) {
      double[] distribution = model.distributionForInstance(test.instance(d));
      StringBuilder line = new StringBuilder("=");
      for (double p : distribution) line.append(' ').append(p);
      System.out.println(line);
    }
  }
}
